//! Tracks that the file itself says are passed over.
//!
//! A list may be right, have too few tracks, or have some that are not there. So the search for such tracks begins with the
//! layout without the list, and holds the list as what is most likely until observations speak against it.

use headstack_drive::spec::LayoutSpec;

/// What a listed track was taken from. The file does not say so, and the zones behind it begin elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum TakenFrom {
    /// From the zone's spare tracks: as many data tracks as without it, `spare_tracks_at_end` being what is left.
    #[default]
    Spares,
    /// From the zone's data: somebody wrote it into a file without lowering `spare_tracks_at_end`.
    Data,
    /// From either, in part: so many spare tracks has each zone without the list, as the zones behind it tell.
    Counted(Vec<u32>),
}

/// The list of a file.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    layout: LayoutSpec,
    /// For each zone its tracks, counted from the zone's first; ascending.
    pub(crate) tracks: Vec<Vec<u64>>,
}

impl Listed {
    /// The tracks listed by a layout in cylinder order; `None` where there are none.
    pub(crate) fn new(layout: &LayoutSpec) -> Option<Self> {
        let mut tracks = vec![Vec::new(); layout.zone.len()];
        for &[cylinder, head] in &layout.slipped_tracks {
            let of = |zone: &headstack_drive::spec::ZoneSpec| {
                (zone.first_cylinder..=zone.last_cylinder).contains(&cylinder)
            };
            let Some(zone) = layout.zone.iter().position(of) else { continue };
            let cylinders = u64::from(cylinder - layout.zone[zone].first_cylinder);
            tracks[zone].push(cylinders * u64::from(layout.heads) + u64::from(head));
        }
        for of in &mut tracks {
            of.sort_unstable();
            of.dedup();
        }
        (!layout.slipped_tracks.is_empty()).then(|| Self { layout: layout.clone(), tracks })
    }

    /// The layout without the list.
    pub(crate) fn without(&self, from: &TakenFrom) -> LayoutSpec {
        let mut bare = self.layout.clone();
        bare.slipped_tracks.clear();
        for (zone, spares) in bare.zone.iter_mut().zip(self.spares(from)) {
            zone.spare_tracks_at_end = spares;
        }
        bare
    }

    /// Spare tracks of each zone without the list.
    pub(crate) fn spares(&self, from: &TakenFrom) -> Vec<u32> {
        let of_file = self.layout.zone.iter().map(|zone| zone.spare_tracks_at_end);
        match from {
            TakenFrom::Spares => {
                of_file.zip(&self.tracks).map(|(spares, tracks)| spares + tracks.len() as u32).collect()
            }
            TakenFrom::Data => of_file.collect(),
            TakenFrom::Counted(spares) => spares.clone(),
        }
    }
}
